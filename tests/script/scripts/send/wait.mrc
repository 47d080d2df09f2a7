# A refused packet goes again after the time that its peer asks for, and nothing behind it before. Not
# its path's fault, and no loss. REQ(ext.rnr.wait)
config extended on

post write 8 bytes id 1
> PROBE probe P
< SACK probe P cack 99 ext 0x41
> WRITE ONLY psn 100
post send 8 bytes id 2
> SEND ONLY psn 101 ev B
post send 8 bytes id 3
> SEND ONLY psn 102
< NACK psn 102 reason rnr wait 3
< NACK psn 101 reason rnr wait 3
post write 8 bytes id 4
expect nothing for 29us
expect stat rnr_waits 2
expect ev B GOOD
+1us > SEND ONLY psn 101 rtx
expect nothing for 5us
< SACK cack 101
> SEND ONLY psn 102 rtx
> WRITE ONLY psn 103
< ACK msn 4
expect completion id 1..4 success
