# The answer to a probe that was never sent, or that was answered before, proves no loss.
# REQ(req.probe.match)
config evs 4 tail_probe 50us

post write 100 bytes id 1
> WRITE ONLY psn 100 ev A
+20us < SACK cack 99 probe 4711
expect ev A GOOD
+30us > PROBE probe P
< SACK cack 100 probe P
< ACK msn 1
expect completion id 1 success
< SACK cack 100 probe P
expect ev A GOOD
expect nothing for 1s
