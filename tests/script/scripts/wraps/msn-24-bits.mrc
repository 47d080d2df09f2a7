# An ACK counts messages in 24 bits. REQ(wire.aeth.layout) REQ(req.complete.acked)
config evs 8 msn 16777215

post write 0 bytes id 1..2
> WRITE ONLY psn 100..101 msn 65535..0
< SACK cack 101
< ACK msn 1
expect completion id 1..2 success
