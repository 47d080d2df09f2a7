# An old SACK from before the PSN wrap comes behind newer ones: no false hole, nothing sent again.
# REQ(req.psn.serial) REQ(req.loss.accumulate)
config evs 8 gap 6us psn 16777214

ignore PROBE
post write 4096 bytes id 1
> WRITE FIRST psn 16777214
+6us > WRITE MIDDLE psn 16777215..0
+6us > WRITE LAST psn 1
+10us < SACK cack 1
< SACK cack 16777214 map 0b10 trigger 0
expect nothing for 100us
expect info evs_good 8
< ACK msn 1
expect completion id 1 success
