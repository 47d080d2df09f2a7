# No memory for the receive window, because our own records took the last block (both have 8 KiB): the
# packet is refused with no_bitmap and not placed. When there is memory again its sender, who comes
# back, is served. REQ(rsp.nack.shortage)
config memory short mpr 4 mpr_dest 255

post write 8 bytes id 1
> WRITE ONLY psn 100
< WRITE ONLY psn 100 len 8
> NACK psn 100 reason no_bitmap ts echo
expect placed nothing
expect stat drop_no_memory 1
memory more
< WRITE ONLY psn 100 len 8 rtx
> SACK cack 100 rtx
> ACK msn 1
expect placed 8 at 0
< ACK msn 1
expect completion id 1 success
