/* Another program on Windows, for tests/platforms/windows: what only a program there can do to a file.
 *
 *   other_program hold PATH r|w|d|none...  opens the file to read; the letters say what others may do meanwhile
 *   other_program map PATH                 maps the file
 *   other_program short PATH               prints the short name (8.3)
 *   other_program attributes PATH [BITS]   prints the attributes, after setting them
 *   other_program make PATH NEW COUNT      makes the file COUNT times, by renaming NEW, each time when there is none
 *
 * The first two print `ready`, and hold the file until the end of standard input. */
#define WIN32_LEAN_AND_MEAN
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <windows.h>

static int fail(const char *what) {
    printf("%s: error %lu\n", what, GetLastError());
    return 1;
}

static int hold(void) {
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF) {
    }
    return 0;
}

static HANDLE open_shared(const wchar_t *path, DWORD access, DWORD share) {
    return CreateFileW(path, access, share, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
}

/* A file with one line, `other <nth>`, that gets the name `path` when no file has it. */
static int make(const wchar_t *path, const wchar_t *new, int nth) {
    FILE *file = _wfopen(new, L"wb");
    if (file == NULL || fprintf(file, "other %d\n", nth) < 0 || fclose(file) != 0) {
        return 0;
    }
    while (!MoveFileW(new, path)) {
        if (GetLastError() != ERROR_ALREADY_EXISTS && GetLastError() != ERROR_FILE_EXISTS) {
            return 0;
        }
    }
    return 1;
}

int wmain(int count, wchar_t **words) {
    const DWORD all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    if (count < 3) {
        return fail("usage");
    }
    const wchar_t *path = words[2];
    if (wcscmp(words[1], L"hold") == 0) {
        DWORD share = 0;
        for (const wchar_t *letter = count > 3 ? words[3] : L""; *letter; letter++) {
            share |= *letter == 'r' ? FILE_SHARE_READ : *letter == 'w' ? FILE_SHARE_WRITE : *letter == 'd' ? FILE_SHARE_DELETE : 0;
        }
        return open_shared(path, GENERIC_READ, share) == INVALID_HANDLE_VALUE ? fail("hold") : hold();
    }
    if (wcscmp(words[1], L"map") == 0) {
        HANDLE file = open_shared(path, GENERIC_READ, all);
        HANDLE map = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
        return map == NULL || MapViewOfFile(map, FILE_MAP_READ, 0, 0, 0) == NULL ? fail("map") : hold();
    }
    if (wcscmp(words[1], L"short") == 0) {
        WIN32_FIND_DATAW found;
        if (FindFirstFileW(path, &found) == INVALID_HANDLE_VALUE) {
            return fail("short");
        }
        printf("%ls\n", found.cAlternateFileName);
        return 0;
    }
    if (wcscmp(words[1], L"attributes") == 0) {
        if (count > 3 && !SetFileAttributesW(path, (DWORD)_wtoi(words[3]))) {
            return fail("attributes");
        }
        printf("%lu\n", GetFileAttributesW(path));
        return 0;
    }
    if (wcscmp(words[1], L"make") == 0 && count > 4) {
        for (int nth = 0; nth < _wtoi(words[4]); nth++) {
            if (!make(path, words[3], nth)) {
                return fail("make");
            }
        }
        return 0;
    }
    return fail("usage");
}
