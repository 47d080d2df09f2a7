# A duplicate below ePSN is acknowledged again and gets a SACK, one above a SACK; neither is placed
# again. REQ(rsp.window.duplicate-below) REQ(rsp.window.duplicate-above) REQ(rsp.place.once)
config planes 1

< WRITE ONLY psn 100 msn 0 len 4
> ACK msn 1
expect placed 4 at 0
< WRITE ONLY psn 100 msn 0 len 4
> SACK cack 100 map 0 trigger 100
> ACK msn 1
< WRITE ONLY psn 102 msn 2 len 4
expect placed 4 at 2048
< WRITE ONLY psn 102 msn 2 len 4
> SACK cack 100 map 0b10 trigger 102
expect placed nothing
expect stat rx_duplicates 2
expect stat rx_data_packets 2
