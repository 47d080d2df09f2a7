# SACKs that name what was never sent, or was acknowledged long ago, are not believed in any part.
# REQ(req.psn.serial) REQ(req.loss.explicit) REQ(req.sack.window)
config evs 4 gap 6us

post write 2048 bytes id 1
> WRITE FIRST psn 100 ev A
+6us > WRITE LAST psn 101
+1us < SACK cack 102                                  # never sent
< SACK cack 5000000
< SACK cack 99 map 0b100 trigger 101                  # bit 2 is PSN 102
< SACK cack 100 offset 100 map 1 trigger 101
< SACK cack 100 trigger 102
< SACK cack 16776000 pen 100                          # further back than the window of 1024
expect nothing for 10us
expect ev A GOOD
expect stat drop_bogus_ack 5
expect stat acks_stale 1
expect stat rx_sacks 1
< SACK cack 101
< ACK msn 1
expect completion id 1 success
