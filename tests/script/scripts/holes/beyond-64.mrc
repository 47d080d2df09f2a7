# A hole is wider than a SACK can tell: 100 PSNs of which the first 80 are lost. What a SACK's 64
# bits do not cover is neither lost nor received, as long as they do not name everything that has
# arrived (ooo). Only the one behind cack is missing in any case.
# REQ(req.loss.outside-bitmap) REQ(req.loss.accumulate)
config evs 128 min_active 8 gap 100ns

post write 102400 bytes id 1
> WRITE FIRST psn 100
+100ns > WRITE MIDDLE psn 101..198
+100ns > WRITE LAST psn 199
# 170 and 180..199 have arrived. The map stands at 136..199 and names all of these but one.
+10us < SACK cack 99 offset 37 map 0xfffff00000000000 ooo 21 trigger 199
> WRITE FIRST psn 100 rtx
+100ns > WRITE MIDDLE psn 136..149 rtx      # what left 5us before 199; of 101..135 nothing is known
expect nothing for 100us
