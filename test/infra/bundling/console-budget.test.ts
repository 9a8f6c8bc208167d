import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildConsole } from '../../../lib/console-server/build-console.ts'
import { type ConsoleFile, openConsoleFiles, PAGE } from '../../../lib/console-server/console-files.ts'

const MAX_SCRIPT_BYTES = 62_000
const MAX_FIRST_VIEW_BYTES = 100_000

const folder = mkdtempSync(join(tmpdir(), 'aes-console-'))
let files: Map<string, ConsoleFile>

beforeAll(async () => {
  await buildConsole(folder, { quality: 11 })
  files = openConsoleFiles(folder)
})
afterAll(() => rmSync(folder, { recursive: true }))

const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0)

describe('the console', () => {
  it('has at most 62 kB of script, compressed with gzip', () => {
    const scripts = [...files].filter(([name]) => name.endsWith('.js'))
    expect(scripts.length).toBeGreaterThan(0)
    expect(sum(scripts.map(([, { compressed }]) => compressed.gzip.length))).toBeLessThanOrEqual(
      MAX_SCRIPT_BYTES,
    )
  })

  it('loads at most 100 kB at first', () => {
    const page = readFileSync(join(folder, PAGE), 'utf8')
    const names = [...page.matchAll(/"console\/([\w.-]+)"/g)].map(([, name = '']) => basename(name))
    expect(names.length).toBeGreaterThan(1)
    const sizes = [PAGE, ...names].map((name) => files.get(name)?.compressed.gzip.length ?? Number.NaN)
    expect(sum(sizes)).toBeLessThanOrEqual(MAX_FIRST_VIEW_BYTES)
  })
})
