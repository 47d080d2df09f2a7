# Marks with a delay far above target shrink the window, but by no more than half, and once a round
# trip. REQ(cc.nscc.decrease) REQ(cc.nscc.table)
config cc nscc link_gbps 100 base_rtt 10us max_cwnd 11120 evs 16

post write 8192 bytes id 1
> WRITE FIRST psn 100
> WRITE MIDDLE psn 101..106
> WRITE LAST psn 107
+3ms < SACK cack 106 mark skip_once trigger 106
expect info cwnd_bytes 5560..6000
< SACK cack 107 mark skip_once trigger 107
expect info cwnd_bytes 5560..6000
< ACK msn 1
expect completion id 1 success
