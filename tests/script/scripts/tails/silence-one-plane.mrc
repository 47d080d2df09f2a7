# One plane, and an EV that is known to reach the peer, of which nothing is heard any more: its T1 may
# be dead. The first probe asks on that EV, the next two there and on another one, and the answer on
# the other tells of the loss long before the timeout. REQ(req.probe.tail) REQ(req.probe.match)
config evs 8 tail_probe 50us timeout 12

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
+10us < SACK cack 100
< ACK msn 1
expect completion id 1 success
post write 8 bytes id 2
> WRITE ONLY psn 101
+50us > PROBE ev A
+100us > PROBE ev A
> PROBE probe P ev !A
ignore PROBE                          # the peer was silent, and planes are probed when it is heard
+10us < SACK cack 100 probe P
> WRITE ONLY psn 101 rtx
+10us < SACK cack 101
< ACK msn 2
expect completion id 2 success
expect stat timeouts 0
