# Several holes in one SACK: all of them go again, oldest first, before anything new, and nothing
# else does.
# REQ(req.rtx.oldest-first) REQ(req.rtx.selective)
config evs 8 gap 1us min_active 4

post write 12288 bytes id 1
> WRITE FIRST psn 100
+1us > WRITE MIDDLE psn 101..110
+1us > WRITE LAST psn 111
+4us post write 1024 bytes id 2
> WRITE ONLY psn 112
+9us < SACK cack 100 map 0b111111010110 trigger 112      # 101, 104 and 106 are missing
> WRITE MIDDLE psn 101 rtx
post write 1024 bytes id 3
+1us > WRITE MIDDLE psn 104 rtx
+1us > WRITE MIDDLE psn 106 rtx
+1us > WRITE ONLY psn 113
+9us < SACK cack 113
< ACK msn 3
expect completion id 1..3 success
expect stat tx_retransmits 3
