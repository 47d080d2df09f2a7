# No PSN leaves that is not below cack + 1 + MPR (here 128). The last that fits asks for a SACK.
# REQ(req.gate.mpr) REQ(req.mpr.unit)
config mpr 1 evs 16

post write 0 bytes id 1..300
> WRITE ONLY psn 100..227
expect nothing for 100us
+1us < SACK cack 99 map 0b10 trigger 101         # 101 arrived, but the window's low end does not move
expect nothing for 100us
< SACK cack 101
> WRITE ONLY psn 228..229
< SACK cack 229
> WRITE ONLY psn 230..357
< SACK cack 357
> WRITE ONLY psn 358..399
< ACK msn 300
expect completion id 1..300 success
