# After the wait for a receive the lowest packet refused goes alone. For each that is accepted two go:
# the peer may have one receive, and not one for all that waits. REQ(ext.rnr.resume)
config extended on

post write 8 bytes id 1
> PROBE probe P
< SACK probe P cack 99 ext 0x41
> WRITE ONLY psn 100
post send 8 bytes id 2
> SEND ONLY psn 101
post send 8 bytes id 3
> SEND ONLY psn 102
post send 8 bytes id 4
> SEND ONLY psn 103
post send 8 bytes id 5
> SEND ONLY psn 104
< NACK psn 102..104 reason rnr wait 1
< NACK psn 101 reason rnr wait 1
expect nothing for 9us
post write 8 bytes id 6
+1us > SEND ONLY psn 101 rtx
expect nothing for 10us
< SACK cack 101
> SEND ONLY psn 102 rtx
> SEND ONLY psn 103 rtx
+5us < NACK psn 102 reason rnr wait 1
< NACK psn 103 reason rnr wait 1
+10us > SEND ONLY psn 102 rtx
+5us < SACK cack 102
> SEND ONLY psn 103 rtx
> SEND ONLY psn 104 rtx
+5us < SACK cack 104
> WRITE ONLY psn 105 ackreq
post write 8 bytes id 7
> WRITE ONLY psn 106
< ACK msn 7
expect completion id 1..7 success
