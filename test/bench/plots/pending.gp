set terminal svg size 960,600 background '#ffffff' font 'sans-serif,13' noenhanced
set output 'pending.svg'
set title 'A pair on top of pending timers'
set xlabel 'pending timers'
set ylabel 'CPU ns, without the loop''s own'
set grid y linecolor '#dddddd' linetype 1
set border 3
set tics nomirror
set tics out
set logscale y
set format y '%.0s%c'

set logscale x
set xrange [8000.0:12500000.0]
set key outside right top Left reverse samplen 2
set xtics ('10,000' 10000, '100,000' 100000, '1,000,000' 1000000, '10,000,000' 10000000)
$d0 << EOD
10000 78503.2
100000 4.15227e+06
EOD
$d1 << EOD
10000 7931.01
100000 7563.51
1e+06 7684.13
1e+07 7824.76
EOD
$d2 << EOD
10000 2485.43
100000 2219.45
1e+06 3535.78
1e+07 2542.9
EOD
$d3 << EOD
10000 133.245
100000 118.071
1e+06 361.628
1e+07 669.77
EOD
$d4 << EOD
10000 261.449
100000 262.206
1e+06 255.831
1e+07 542.184
EOD
$d5 << EOD
10000 879.488
100000 1211.06
1e+06 1405.72
1e+07 537.895
EOD
$d6 << EOD
10000 986.837
100000 1176.24
1e+06 1404.75
1e+07 519.648
EOD
$d7 << EOD
10000 322.552
100000 300.06
1e+06 458.691
1e+07 258.94
EOD
$d8 << EOD
10000 68.9324
100000 92.7568
1e+06 104.378
1e+07 118.153
EOD
$d9 << EOD
10000 80.5578
100000 83.1047
1e+06 73.0899
EOD
$d10 << EOD
10000 61.6295
100000 69.0535
1e+06 71.9392
1e+07 67.9839
EOD
$d11 << EOD
10000 42.1528
100000 40.7348
1e+06 36.5718
1e+07 58.0937
EOD
$d12 << EOD
10000 327.764
100000 341.037
1e+06 337.319
1e+07 54.3221
EOD
$d13 << EOD
10000 37.3399
100000 36.4899
1e+06 35.9755
1e+07 52.5706
EOD
$d14 << EOD
10000 34.7396
100000 33.0215
1e+06 32.4455
1e+07 43.3034
EOD
$d15 << EOD
10000 25.897
100000 25.544
1e+06 21.6739
1e+07 42.0827
EOD
plot $d0 with linespoints title 'glib' linecolor '#ff7f0e' linewidth 1.5 pointtype 13 pointsize 0.8, \
  $d1 with linespoints title 'asio' linecolor '#d62728' linewidth 1.5 pointtype 7 pointsize 0.8, \
  $d2 with linespoints title 'java-stpe' linecolor '#17becf' linewidth 1.5 pointtype 8 pointsize 0.8, \
  $d3 with linespoints title 'netty' linecolor '#d62728' linewidth 1.5 pointtype 9 pointsize 0.8, \
  $d4 with linespoints title 'brpc-design' linecolor '#2ca02c' linewidth 1.5 pointtype 9 pointsize 0.8, \
  $d5 with linespoints title 'libevent-common !' linecolor '#000080' linewidth 1.5 pointtype 5 pointsize 0.8, \
  $d6 with linespoints title 'libevent !' linecolor '#bcbd22' linewidth 1.5 pointtype 12 pointsize 0.8, \
  $d7 with linespoints title 'go' linecolor '#8c564b' linewidth 1.5 pointtype 4 pointsize 0.8, \
  $d8 with linespoints title 'libev' linecolor '#7f7f7f' linewidth 1.5 pointtype 10 pointsize 0.8, \
  $d9 with linespoints title 'dpdk' linecolor '#9467bd' linewidth 1.5 pointtype 11 pointsize 0.8, \
  $d10 with linespoints title 'one-heap' linecolor '#2ca02c' linewidth 1.5 pointtype 11 pointsize 0.8, \
  $d11 with linespoints title 'hashed-wheel' linecolor '#e377c2' linewidth 1.5 pointtype 6 pointsize 0.8, \
  $d12 with linespoints title 'libuv' linecolor '#1f77b4' linewidth 1.5 pointtype 7 pointsize 0.8, \
  $d13 with linespoints title 'wheels' linecolor '#ff7f0e' linewidth 1.5 pointtype 4 pointsize 0.8, \
  $d14 with linespoints title '64-heaps' linecolor '#1f77b4' linewidth 1.5 pointtype 5 pointsize 0.8, \
  $d15 with linespoints title 'timerthread' linecolor '#000000' linewidth 4 pointtype 7 pointsize 0.9
