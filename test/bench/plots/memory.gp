set terminal svg size 960,600 background '#ffffff' font 'sans-serif,13' noenhanced
set output 'memory.svg'
set title 'Memory under 500,000 requests a second, each timer cancelled after 10 ms'
set xlabel ''
set ylabel 'MiB'
set grid y linecolor '#dddddd' linetype 1
set border 3
set tics nomirror
set tics out
set logscale y
set format y '%g'

set style data histogram
set style histogram clustered gap 1
set boxwidth 0.9
set style fill solid noborder
set key top left horizontal outside
set xtics rotate by -40 scale 0
set yrange [0.1:*]
$d << EOD
"timerthread" 1.05859 0.476562 0.816406
"dpdk" 0.102 0.102 0.102
"libevent-common !" 0.102 0.102 0.102
"wheels" 0.102 0.148438 0.102
"libevent !" 0.102 0.102 0.102
"64-heaps" 0.265625 0.152344 0.140625
"one-heap" 0.140625 0.265625 0.140625
"libev" 0.102 0.102 0.148438
"hashed-wheel" 0.511719 0.75 0.515625
"asio" 0.875 0.84375 0.949219
"libuv" 1.82812 1.5625 1.79297
"go" 5.72266 6.89062 7.13672
"netty" 29.2773 53.6641 67.0703
"brpc-design" 4.10156 31.3203 153.406
"java-stpe" 94.0117 185.352 185.414
EOD
set datafile missing '?'
plot $d using 2:xtic(1) title 'timeout 0.1 s' linecolor '#9ecae1', \
  $d using 3:xtic(1) title 'timeout 1 s' linecolor '#4292c6', \
  $d using 4:xtic(1) title 'timeout 60 s' linecolor '#08519c'
