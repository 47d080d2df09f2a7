# The fourth value of m means nothing. REQ(wire.seth.m)
config evs 2

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
< SACK cack 100 mark undefined
expect ev A GOOD
expect no_event
< ACK msn 1
expect completion id 1 success
