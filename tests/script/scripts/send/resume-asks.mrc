# After a wait for a receive two packets go for each that is accepted; the last that may go asks for the SACK that
# lets more go, and none before it. REQ(ext.rnr.resume)
config extended on sack_bytes 1000000

post write 8 bytes id 1
> PROBE probe P
< SACK probe P cack 99 ext 0x41
> WRITE ONLY psn 100
post send 8 bytes id 2
> SEND ONLY psn 101
< NACK psn 101 reason rnr wait 1
+10us > SEND ONLY psn 101 rtx
post write 8192 bytes id 3
expect nothing for 1us
< SACK cack 101
> WRITE FIRST psn 102 !ackreq
> WRITE MIDDLE psn 103 ackreq
expect nothing for 1us
< SACK cack 103
> WRITE MIDDLE psn 104..106 !ackreq
> WRITE MIDDLE psn 107 ackreq
expect nothing for 1us
< SACK cack 107
> WRITE MIDDLE psn 108 !ackreq
> WRITE LAST psn 109 ackreq
< SACK cack 109
< ACK msn 3
expect completion id 1..3 success
