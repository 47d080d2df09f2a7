# The last PSN of the window is taken, also right after the window has moved.
# REQ(rsp.window.range) REQ(rsp.window.any-order)
config mpr_dest 1 sack_bytes 1000000

< WRITE ONLY psn 227 msn 127 len 4
expect placed 4 at 130048
< WRITE ONLY psn 100..226 msn 0..126 len 4
ignore ACK
< WRITE ONLY psn 355 msn 255 len 4
expect stat drop_far_psn 0
< WRITE ONLY psn 356 msn 256 len 4
> NACK psn 356 reason psn_oor_window
