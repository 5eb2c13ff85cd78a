set terminal svg size 960,600 background '#ffffff' font 'sans-serif,13' noenhanced
set output 'late.svg'
set title 'Lateness of 1,000,000 timers within 2 s (! : early, lost or twice)'
set xlabel ''
set ylabel 'us'
set grid y linecolor '#dddddd' linetype 1
set border 3
set tics nomirror
set tics out
set logscale y
set format y '%.0s%c'

set style data histogram
set style histogram clustered gap 1
set boxwidth 0.9
set style fill solid noborder
set key top left horizontal outside
set xtics rotate by -40 scale 0
set yrange [1:*]
$d << EOD
"timerthread" 33.4095 1488.42 5549.12
"timerthread-slack" 74.3 293.361 2480.98
"asio" 70.4235 760.675 5637.93
"hashed-wheel" 701.645 1243.51 2295.48
"dpdk" 2124.42 5123.09 11118
"wheels" 785.565 15378.1 18153.3
"brpc-design" 51.7625 16861.7 23308.3
"64-heaps" 75.335 74074.5 83631.6
"one-heap" 67.291 79590 86028.8
"libev" 718.855 114843 124618
"netty" 1254.35 195124 206676
"java-stpe" 192158 429130 430629
"libevent-common !" 286326 812665 828330
"libuv" 1.03554e+06 1.28242e+06 1.29796e+06
"go" 1362.81 3.53999e+06 3.57307e+06
"libevent !" 2.8965e+06 3.99458e+06 4.00811e+06
EOD
set datafile missing '?'
plot $d using 2:xtic(1) title 'median' linecolor '#9ecae1', \
  $d using 3:xtic(1) title '99 %' linecolor '#4292c6', \
  $d using 4:xtic(1) title '99.9 %' linecolor '#08519c'
