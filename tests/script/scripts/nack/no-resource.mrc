# The peer refuses a packet (no_resource): it goes again on another EV after a wait of one to
# two probe times, not at once, else both would feed each other. Its EV is not the cause.
# REQ(req.loss.nack) REQ(req.loss.nack-wait) REQ(wire.neth.reasons)
config evs 4 tail_probe 50us

post write 8 bytes id 1
> WRITE ONLY psn 100 ev A
+5us < NACK psn 100 reason no_resource
+45us..95us > WRITE ONLY psn 100 rtx ev !A
expect ev A GOOD
expect no_event
< SACK cack 100
< ACK msn 1
expect completion id 1 success
