# A mark counts for the EV that the trigger took. One that names another EV, or a trigger that nobody
# remembers, says nothing. REQ(wire.seth.entropy) REQ(req.ev.skip-on-ecn)
config evs 4

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
< SACK cack 100 mark skip_once ev 77
expect ev A GOOD
< SACK cack 100 mark skip_once ts 999
expect ev A GOOD
< SACK cack 100 mark always_skip ts 999
expect ev A GOOD
< SACK cack 100 mark skip_once
expect ev A SKIP
< ACK msn 1
expect completion id 1 success
