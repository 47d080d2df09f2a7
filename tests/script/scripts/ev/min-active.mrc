# With min_active 2 a third bad EV of four brings back the one that has been bad longest.
# REQ(req.ev.min-active)
config evs 4 min_active 2

post write 8 bytes id 1..3
> WRITE ONLY psn 100 ev A
> WRITE ONLY psn 101 ev B
> WRITE ONLY psn 102 ev C
+1us < SACK cack 100 mark always_skip trigger 100
expect event ev A ASSUMED_BAD by mark
+1us < SACK cack 101 mark always_skip trigger 101
expect event ev B ASSUMED_BAD by mark
+1us < SACK cack 102 mark always_skip trigger 102
expect event ev A GOOD by floor
expect event ev C ASSUMED_BAD by mark
expect info evs_good 2
< ACK msn 3
expect completion id 1..3 success
