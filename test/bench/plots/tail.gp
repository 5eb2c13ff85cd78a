set terminal svg size 960,600 background '#ffffff' font 'sans-serif,13' noenhanced
set output 'tail.svg'
set title 'A single schedule call, 2 threads, 100,000 in flight each'
set xlabel ''
set ylabel 'ns, without the loop''s own'
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
set yrange [10:*]
$d << EOD
"timerthread" 10.5 55.5 421.5 4.93978e+06
"64-heaps" 10.5 26 90.5 128185
"hashed-wheel" 150.5 522 13090.5 7.98156e+06
"wheels" 20.5 2856 13927 2.13782e+06
"dpdk" 75.5 156.5 17980 4.02493e+06
"libevent-common !" 30.5 3868 22413.5 846981
"one-heap" 15 3146.5 24928.5 1.22006e+07
"netty" 130.5 12839 30628 2.18907e+07
"go" 166 4894.5 35372.5 2.22331e+07
"libev" 20.5 9444 36755 1.94622e+06
"asio" 176 3937.5 41199 1.13741e+06
"libuv" 85.5 16523 53933.5 9.49061e+06
"libevent !" 36.5 18516 55030 1.84021e+06
"brpc-design" 10.5 30.5 55611 8.98627e+06
"java-stpe" 70.5 26835.5 63270 5.53602e+07
"glib" 1518.5 2.06815e+06 3.39494e+06 6.37974e+06
EOD
set datafile missing '?'
plot $d using 2:xtic(1) title 'median' linecolor '#9ecae1', \
  $d using 3:xtic(1) title '99 %' linecolor '#4292c6', \
  $d using 4:xtic(1) title '99.9 %' linecolor '#08519c', \
  $d using 5:xtic(1) title 'most' linecolor '#08205c'
