/* bcryptprimitives.dll for versions of wine that lack it (before 9). The standard library of Rust takes its random numbers
 * from there, so without it no program of Rust starts. For tests alone: on Windows the system has this library. */
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* RtlGenRandom of advapi32. */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG len);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T len) {
    while (len > 0) {
        ULONG part = len > 0x100000 ? 0x100000 : (ULONG)len;
        if (!SystemFunction036(buffer, part)) {
            return FALSE;
        }
        buffer += part;
        len -= part;
    }
    return TRUE;
}
