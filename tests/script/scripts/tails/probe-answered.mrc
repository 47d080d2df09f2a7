# Nothing was lost but the SACK and the ACK: the answer to the probe says that all has arrived, the
# responder repeats its ACK, nothing goes again. REQ(req.probe.tail) REQ(req.probe.match)
config evs 4 tail_probe 50us

post write 100 bytes id 1
> WRITE ONLY psn 100 ev A
+50us > PROBE probe P
+10us < SACK cack 100 probe P
< ACK msn 1
expect completion id 1 success
expect ev A GOOD
expect nothing for 1s
