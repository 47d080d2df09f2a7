# A trim takes a packet off the window, at whichever hop it was cut; only a trim in the middle skips
# the EV. REQ(cc.nscc.nack) REQ(req.ev.last-hop-trim)
config cc nscc link_gbps 100 base_rtt 10us max_cwnd 11120 trimming on evs 16

post write 8 bytes id 1..2
> WRITE ONLY psn 100 ev A
> WRITE ONLY psn 101 ev B
+10us < NACK psn 100 reason trimmed
> WRITE ONLY psn 100 rtx
expect info cwnd_bytes 11024                         # 8 + 88
expect ev A SKIP
< NACK psn 101 reason trimmed_lasthop
> WRITE ONLY psn 101 rtx
expect info cwnd_bytes 10928
expect ev B GOOD
< ACK msn 2
expect completion id 1..2 success
