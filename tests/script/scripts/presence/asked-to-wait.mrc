# A peer that asked to wait for a receive says nothing meanwhile, and that is no silence: when it is heard
# again, its planes need not be probed. REQ(ext.rnr.wait) REQ(req.ev.endpoint)
config extended on planes 2 evs 4

post write 8 bytes id 1
> PROBE probe P
< SACK probe P cack 99 ext 0x41
> WRITE ONLY psn 100
+2us < SACK cack 100
< ACK msn 1
expect completion id 1 success
post send 8 bytes id 2
> SEND ONLY psn 101
+2us < NACK psn 101 reason rnr wait 5
+60us > SEND ONLY psn 101 rtx
+2us < NACK psn 101 reason rnr wait 5
+60us > SEND ONLY psn 101 rtx
+2us < SACK cack 101
< ACK msn 2
expect completion id 2 success
