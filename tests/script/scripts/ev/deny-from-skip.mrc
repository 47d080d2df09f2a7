# SKIP -> DENIED -> GOOD for all QPs; the one that heard the mark still skips the EV once. REQ(req.ev.denied) REQ(req.ev.state-machine)
config evs 2

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
< SACK cack 100 mark skip_once
< ACK msn 1
expect completion id 1 success
expect ev A SKIP
deny ev A
expect ev A DENIED
deny ev A                                            # once more changes nothing
expect no_event
allow ev A
expect ev A SKIP
expect event ev A GOOD by operator
allow ev A
expect no_event
deny ev 2 fails invalid
