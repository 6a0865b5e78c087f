// SPDX-License-Identifier: GPL-2.0
/*
 * mkvbios DIR: writes what the real amdgpu driver needs to accept QEMU's qxl
 * device as a Southern Islands board. All bytes are made here.
 *
 *   DIR/vbios.bin                     the video BIOS, for "qxl,romfile="
 *   DIR/lib/firmware/amdgpu/...bin    valid headers without content
 *
 * Offsets are those of the kernel's drivers/gpu/drm/amd/amdgpu/atom.h, include/atombios.h and
 * amdgpu_ucode.h. Exits with 0, or 1 after a message.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ROM_BYTES	4096
#define ROM_BLOCK_BYTES 512

/* Positions of the tables; only the fixed offsets further down are prescribed. */
enum {
	AT_PART_NUMBER = 0x80,
	AT_PCIR = 0xa0,
	AT_ATOM_HEADER = 0x100,
	AT_COMMAND_TABLE = 0x140,
	AT_ASIC_INIT = 0x200,
	AT_DATA_TABLE = 0x240,
	AT_FIRMWARE_INFO = 0x300,
	AT_IO_SCRIPTS = 0x3c0,
};

enum {
	TABLE_WORDS = 0x50,	/* table of offsets: more than any index the driver uses */
	DATA_FIRMWARE_INFO = 4, /* indexes into it, like the next ones */
	DATA_IO_SCRIPTS = 23,
	COMMAND_ASIC_INIT = 0,
	OP_END_OF_TABLE = 0x5b,
};

static uint8_t rom[ROM_BYTES];

static void put16(uint8_t *to, unsigned int at, unsigned int value)
{
	to[at] = (uint8_t)value;
	to[at + 1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *to, unsigned int at, uint32_t value)
{
	put16(to, at, value & 0xffff);
	put16(to, at + 2, value >> 16);
}

static void put_text(unsigned int at, const char *text)
{
	memcpy(rom + at, text, strlen(text));
}

/* Every ATOM table begins with its size and two revisions. */
static void put_table(unsigned int at, unsigned int size, uint8_t format, uint8_t content)
{
	put16(rom, at, size);
	rom[at + 2] = format;
	rom[at + 3] = content;
}

static void rom_header(void)
{
	put16(rom, 0, 0xaa55);
	rom[2] = ROM_BYTES / ROM_BLOCK_BYTES;
	rom[3] = 0xcb; /* retf: the PC's BIOS calls this, and it returns */
	put16(rom, 0x18, AT_PCIR);
	put_text(0x30, " 761295520"); /* signature of an ATOM BIOS */
	put16(rom, 0x48, AT_ATOM_HEADER);
	put_text(0x50, "01/01/26 00:00"); /* the date the driver prints */
	put16(rom, 0x6e, AT_PART_NUMBER);
	put_text(AT_PART_NUMBER, "DAVYLAMP-LAB"); /* without one, 6.1 reads through NULL */

	put_text(AT_PCIR, "PCIR");
	put16(rom, AT_PCIR + 4, 0x1b36); /* qxl: the PC's BIOS compares it */
	put16(rom, AT_PCIR + 6, 0x0100);
	put16(rom, AT_PCIR + 0x0a, 0x18); /* size of this structure */
	rom[AT_PCIR + 0x0f] = 3;	  /* class: display */
	put16(rom, AT_PCIR + 0x10, ROM_BYTES / ROM_BLOCK_BYTES);
	rom[AT_PCIR + 0x15] = 0x80; /* last image */
}

static void rom_tables(void)
{
	const uint32_t clock_10khz = 50000;

	put_table(AT_ATOM_HEADER, 0x24, 1, 1);
	put_text(AT_ATOM_HEADER + 4, "ATOM");
	put16(rom, AT_ATOM_HEADER + 0x1e, AT_COMMAND_TABLE);
	put16(rom, AT_ATOM_HEADER + 0x20, AT_DATA_TABLE);

	put_table(AT_COMMAND_TABLE, 4 + 2 * TABLE_WORDS, 1, 1);
	put16(rom, AT_COMMAND_TABLE + 4 + 2 * COMMAND_ASIC_INIT, AT_ASIC_INIT);
	put_table(AT_ASIC_INIT, 7, 1, 1);
	rom[AT_ASIC_INIT + 6] = OP_END_OF_TABLE;

	put_table(AT_DATA_TABLE, 4 + 2 * TABLE_WORDS, 1, 1);
	put16(rom, AT_DATA_TABLE + 4 + 2 * DATA_FIRMWARE_INFO, AT_FIRMWARE_INFO);
	put16(rom, AT_DATA_TABLE + 4 + 2 * DATA_IO_SCRIPTS, AT_IO_SCRIPTS);

	put_table(AT_FIRMWARE_INFO, 0x7c, 1, 4);
	put32(rom, AT_FIRMWARE_INFO + 0x08, clock_10khz);     /* default engine clock */
	put32(rom, AT_FIRMWARE_INFO + 0x0c, clock_10khz);     /* default memory clock */
	put32(rom, AT_FIRMWARE_INFO + 0x18, 2 * clock_10khz); /* highest engine PLL output */
	put32(rom, AT_FIRMWARE_INFO + 0x1c, 2 * clock_10khz); /* highest memory PLL output */
	put32(rom, AT_FIRMWARE_INFO + 0x20, 2 * clock_10khz); /* highest pixel PLL output */
	put16(rom, AT_FIRMWARE_INFO + 0x52, 2700);	      /* reference clock */
}

/* The PC's BIOS runs only an image whose bytes sum to zero; only then a shadow exists. */
static void rom_checksum(void)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < sizeof(rom); i++)
		sum = (uint8_t)(sum + rom[i]);
	rom[ROM_BYTES - 1] = (uint8_t)-sum;
}

static int write_file(const char *dir, const char *name, const uint8_t *bytes, size_t size)
{
	char path[4096];
	size_t done;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path)) {
		fprintf(stderr, "mkvbios: the path '%s' is too long\n", dir);
		return -ENAMETOOLONG;
	}
	f = fopen(path, "wb");
	done = f ? fwrite(bytes, 1, size, f) : 0;
	if (!f || fclose(f) || done != size) {
		fprintf(stderr, "mkvbios: cannot write '%s': %s\n", path, strerror(errno));
		return -EIO;
	}
	return 0;
}

static int make_dirs(const char *dir)
{
	static const char *const below[] = { "", "/lib", "/lib/firmware", "/lib/firmware/amdgpu" };
	char path[4096];

	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		if (snprintf(path, sizeof(path), "%s%s", dir, below[i]) >= (int)sizeof(path))
			return -ENAMETOOLONG;
		if (mkdir(path, 0755) && errno != EEXIST) {
			fprintf(stderr, "mkvbios: cannot make '%s': %s\n", path, strerror(errno));
			return -errno;
		}
	}
	return 0;
}

static int write_firmware(const char *dir)
{
	static const char *const parts[] = {
		"tahiti_mc", "tahiti_pfp", "tahiti_me", "tahiti_ce", "tahiti_rlc", "si58_mc",
	};
	uint8_t image[128] = { 0 };
	char name[64];
	int err;

	put32(image, 0, sizeof(image));	      /* size of the file */
	put32(image, 4, 64);		      /* size of its header */
	put16(image, 8, 1);		      /* version of the header */
	put32(image, 20, sizeof(image) - 64); /* size of the microcode */
	put32(image, 24, 64);		      /* its offset */
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(name, sizeof(name), "lib/firmware/amdgpu/%s.bin", parts[i]);
		err = write_file(dir, name, image, sizeof(image));
		if (err)
			return err;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: mkvbios DIR\n");
		return 2;
	}
	rom_header();
	rom_tables();
	rom_checksum();
	if (make_dirs(argv[1]) || write_file(argv[1], "vbios.bin", rom, sizeof(rom)))
		return 1;
	return write_firmware(argv[1]) ? 1 : 0;
}
