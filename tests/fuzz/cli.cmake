# SPDX-License-Identifier: BSD-2-Clause
softmrc_fuzz(perf SOURCES fuzz_perf.c LINKS cli CORPUS corpus/perf)
softmrc_fuzz(capture SOURCES fuzz_capture.c LINKS cli CORPUS corpus/capture)
softmrc_fuzz(faults SOURCES fuzz_faults.c ../support/fake_driver.c LINKS io fabric
	CORPUS corpus/faults)
softmrc_fuzz(http SOURCES fuzz_http.c LINKS cli CORPUS corpus/http)
softmrc_fuzz(ctl SOURCES fuzz_ctl.c LINKS cli CORPUS corpus/ctl)
