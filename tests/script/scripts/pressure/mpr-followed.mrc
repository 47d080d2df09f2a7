# With dynamic MPR the window is one unit until the first SACK and then follows each, never beyond what was
# agreed (2 units); 0 is no offer; what an overtaken SACK offers is old.
# REQ(req.mpr.dynamic) REQ(req.gate.mpr)
config dynamic_mpr on mpr 2

post write 0 bytes id 1..900
> WRITE ONLY psn 100..227
expect nothing
< SACK cack 227 mpr 2
> WRITE ONLY psn 228..483
< SACK cack 355 mpr 1
expect nothing
< SACK cack 483 mpr 0
> WRITE ONLY psn 484..611
expect nothing
< SACK cack 400 mpr 2                             # an old one
expect nothing
< SACK cack 611 mpr 200
> WRITE ONLY psn 612..867
expect nothing
< SACK cack 867
> WRITE ONLY psn 868..999
< ACK msn 900
expect completion id 1..900 success
