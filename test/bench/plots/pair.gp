set terminal svg size 960,600 background '#ffffff' font 'sans-serif,13' noenhanced
set output 'pair.svg'
set title 'Schedule and cancel at once: CPU time a pair'
set xlabel 'threads'
set ylabel 'ns, without the loop''s own'
set grid y linecolor '#dddddd' linetype 1
set border 3
set tics nomirror
set tics out
set logscale y
set format y '%.0s%c'

set logscale x
set xrange [0.8:500.0]
set key outside right top Left reverse samplen 2
set xtics ('1' 1, '2' 2, '4' 4, '8' 8, '64' 64, '400' 400)
$d0 << EOD
1 165.109
2 555.25
4 713.752
8 804.154
64 2986.47
400 27622.5
EOD
$d1 << EOD
1 6451.46
2 8296.58
4 8510.41
8 8517.91
64 8471.69
400 9503.63
EOD
$d2 << EOD
1 2803.97
2 2650.14
4 2761.2
8 2669.44
64 2745.14
400 3071.22
EOD
$d3 << EOD
1 2524.47
2 2614.26
4 2603.64
8 2578.88
64 2653.63
400 2904.01
EOD
$d4 << EOD
1 6930.6
2 4098.82
4 3668.26
8 2445.2
64 2549.43
400 2658.38
EOD
$d5 << EOD
1 6449.24
2 4416.82
4 1729.09
8 1089.49
64 840.957
400 783.356
EOD
$d6 << EOD
1 611.214
2 565.896
4 587.571
8 511.351
64 466.344
400 633.781
EOD
$d7 << EOD
1 33.6662
2 445.818
4 494.315
8 434.661
64 515.291
400 571.72
EOD
$d8 << EOD
1 492.335
2 537.246
4 507.831
8 432.515
64 415.762
400 537.218
EOD
$d9 << EOD
1 284.497
2 254.213
4 303.676
8 363.528
64 425.896
400 494.552
EOD
$d10 << EOD
1 33.4845
2 373.599
4 444.717
8 452.449
64 456.981
400 358.752
EOD
$d11 << EOD
1 29.4638
2 407.647
4 370.84
8 444.557
64 429.547
400 357.957
EOD
$d12 << EOD
1 69.0381
2 83.6905
4 80.7034
8 69.1182
64 61.6721
400 324.684
EOD
$d13 << EOD
1 41.5578
2 345.536
4 335.548
8 323.099
64 314.209
400 315.896
EOD
$d14 << EOD
1 194.735
2 274.358
4 263.18
8 270.69
64 221.692
400 226.919
EOD
$d15 << EOD
1 218.008
2 237.477
4 235.846
8 235.206
64 238.3
400 220.512
EOD
$d16 << EOD
1 710.754
2 150.062
4 115.377
8 114.342
64 133.098
400 179.989
EOD
$d17 << EOD
1 20.9205
2 21.5127
4 24.7376
8 30.5439
64 33.685
400 44.2984
EOD
$d18 << EOD
1 31.3629
2 32.8431
4 31.7533
8 31.9726
64 32.4375
400 33.313
EOD
plot $d0 with linespoints title 'netty' linecolor '#d62728' linewidth 1.5 pointtype 9 pointsize 0.8, \
  $d1 with linespoints title 'timerfd' linecolor '#ff7f0e' linewidth 1.5 pointtype 4 pointsize 0.8, \
  $d2 with linespoints title 'timerfd-reused' linecolor '#8c564b' linewidth 1.5 pointtype 6 pointsize 0.8, \
  $d3 with linespoints title 'posix' linecolor '#9467bd' linewidth 1.5 pointtype 13 pointsize 0.8, \
  $d4 with linespoints title 'glib' linecolor '#ff7f0e' linewidth 1.5 pointtype 13 pointsize 0.8, \
  $d5 with linespoints title 'asio' linecolor '#d62728' linewidth 1.5 pointtype 7 pointsize 0.8, \
  $d6 with linespoints title 'libevent-common !' linecolor '#000080' linewidth 1.5 pointtype 5 pointsize 0.8, \
  $d7 with linespoints title 'libev' linecolor '#7f7f7f' linewidth 1.5 pointtype 10 pointsize 0.8, \
  $d8 with linespoints title 'libevent !' linecolor '#bcbd22' linewidth 1.5 pointtype 12 pointsize 0.8, \
  $d9 with linespoints title 'libuv' linecolor '#1f77b4' linewidth 1.5 pointtype 7 pointsize 0.8, \
  $d10 with linespoints title 'wheels' linecolor '#17becf' linewidth 1.5 pointtype 10 pointsize 0.8, \
  $d11 with linespoints title 'one-heap' linecolor '#2ca02c' linewidth 1.5 pointtype 11 pointsize 0.8, \
  $d12 with linespoints title 'dpdk' linecolor '#9467bd' linewidth 1.5 pointtype 11 pointsize 0.8, \
  $d13 with linespoints title 'hashed-wheel' linecolor '#e377c2' linewidth 1.5 pointtype 6 pointsize 0.8, \
  $d14 with linespoints title 'go' linecolor '#8c564b' linewidth 1.5 pointtype 4 pointsize 0.8, \
  $d15 with linespoints title 'brpc-design' linecolor '#2ca02c' linewidth 1.5 pointtype 9 pointsize 0.8, \
  $d16 with linespoints title 'java-stpe' linecolor '#17becf' linewidth 1.5 pointtype 8 pointsize 0.8, \
  $d17 with linespoints title 'timerthread' linecolor '#000000' linewidth 4 pointtype 7 pointsize 0.9, \
  $d18 with linespoints title '64-heaps' linecolor '#1f77b4' linewidth 1.5 pointtype 5 pointsize 0.8
