# SPDX-License-Identifier: MIT
#
# clients.pl PORT PID: a hundred clients of memcached that become silent, and
# one that does not.  Says "silent" when no other will connect.
use strict;
use warnings;
use IO::Socket::INET;

$| = 1;
my ($port, $pid) = @ARGV;

sub connection {
    return IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)
        || die "no connection: $!\n";
}

# The answer to a command that has one line.
sub ask {
    my ($s, $command) = @_;
    print $s "$command\r\n";
    my $line = <$s>;
    defined $line or die "no answer to: $command\n";
    $line =~ s/\s+$//;
    return $line;
}

sub idle_kicks {
    my ($s) = @_;
    print $s "stats\r\n";
    my $n;
    while (my $line = <$s>) {
        $n = $1 if $line =~ /^STAT idle_kicks (\d+)/;
        last if $line =~ /^END/;
    }
    return $n;
}

my $busy = connection();
ask($busy, "set key 0 0 5\r\nvalue") eq 'STORED' or die "not stored\n";

my @silent;
for my $i (1 .. 100) {
    my $s = connection();
    ask($s, 'get none') eq 'END' or die "not found\n";
    push @silent, $s;
    ask($busy, "touch key 0") eq 'TOUCHED' or die "not there\n";
    select(undef, undef, undef, 0.1);
}
print "silent\n";

# All of them are closed by the server, and the one that asks is not.
my $kicks = 0;
for (1 .. 40) {
    select(undef, undef, undef, 1);
    $kicks = idle_kicks($busy);
    last if $kicks == 100;
}
die "$kicks of 100 were closed\n" if $kicks != 100;
for my $s (@silent) {
    die "still open\n" if defined <$s>;
}

# On SIGHUP it reads its configuration again, and goes on.
kill 'HUP', $pid or die "no process $pid\n";
select(undef, undef, undef, 2);
print $busy "get key\r\n";
<$busy> =~ /^VALUE key 0 5/ or die "lost\n";
print "closed: $kicks\n";
