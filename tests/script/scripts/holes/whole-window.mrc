# Everything but the last packet is lost, far more than a SACK can name. Because the map holds as many
# PSNs as ooo says have arrived, it speaks of all others too: they are missing.
# REQ(req.loss.outside-bitmap) REQ(req.loss.explicit)
config evs 200 min_active 8 gap 100ns

post write 102400 bytes id 1
> WRITE FIRST psn 100
+100ns > WRITE MIDDLE psn 101..198
+100ns > WRITE LAST psn 199
+10us post write 8 bytes id 2
> WRITE ONLY psn 200
+10us < SACK cack 99 offset 38 map 0x8000000000000000 ooo 1 trigger 200   # 137..200
> WRITE FIRST psn 100 rtx
+100ns > WRITE MIDDLE psn 101..198 rtx
+100ns > WRITE LAST psn 199 rtx
+10us < SACK cack 200 trigger 199
< ACK msn 2
expect completion id 1..2 success
