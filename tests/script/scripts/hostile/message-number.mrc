# A WRITE of no bytes needs no key, and would take the place of another packet. Between it and what is
# complete cannot be more messages than packets: one whose sender does not know the number is dropped.
# REQ(rsp.place.msn)
config sack_bytes 100000

< WRITE ONLY psn 105 msn 6 len 0 rkey 0
< WRITE ONLY psn 105 msn 30000 len 0 rkey 0
< WRITE ONLY psn 105 msn 65535 len 0 rkey 0
expect stat drop_malformed 3
expect stat rx_data_packets 0
< WRITE ONLY psn 105 msn 5 len 8
expect placed 8 at 5120
