# GOOD -> ASSUMED_BAD: a SACK that says always_skip. SKIP -> ASSUMED_BAD the same way.
# REQ(req.ev.always-skip) REQ(req.ev.events) REQ(req.ev.state-machine)
config evs 4

post write 8 bytes id 1..2
> WRITE ONLY psn 100 ev A
> WRITE ONLY psn 101 ev B
< SACK cack 100 mark always_skip trigger 100
expect ev A ASSUMED_BAD
expect event ev A ASSUMED_BAD by mark
< SACK cack 101 mark skip_once trigger 101
expect ev B SKIP
< SACK cack 101 mark always_skip trigger 101
expect ev B ASSUMED_BAD
expect event ev B ASSUMED_BAD by mark
expect no_event
< ACK msn 2
expect completion id 1..2 success
