# In SQD what was lost still goes again. REQ(req.sqd) REQ(req.rtx.selective)
config evs 8 gap 6us

post write 2048 bytes id 1
> WRITE FIRST psn 100
+6us > WRITE LAST psn 101
state SQD
+10us < SACK cack 99 map 0b10 trigger 101
> WRITE FIRST psn 100 rtx
+10us < SACK cack 101 trigger 100
< ACK msn 1
expect completion id 1 success
expect drained
expect state SQD
