import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'

const run = promisify(execFile)
const root = mkdtempSync(join(tmpdir(), 'aes-compile-cache-'))
afterAll(() => rmSync(root, { recursive: true }))

/** The folder that a new process uses of these. */
async function open(folders: string[], environment: Record<string, string> = {}): Promise<string> {
  const code = `import { openCompileCache } from './local/compile-cache.mjs'
openCompileCache(...${JSON.stringify(folders)})
console.log(process.env.NODE_COMPILE_CACHE ?? 'none')`
  const env = { ...process.env, NODE_COMPILE_CACHE: '', ...environment }
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { env })
  return stdout.trim()
}

describe('openCompileCache', () => {
  it('takes the first folder that can be written, and none that cannot', async () => {
    writeFileSync(join(root, 'file'), '')
    const [impossible, folder] = [join(root, 'file', 'cache'), join(root, 'new', 'cache')]
    expect(await open([impossible, folder])).toBe(folder)
    expect(await open([impossible])).toBe('')
    expect(await open([impossible], { NODE_COMPILE_CACHE: folder })).toBe(folder)
  })

  it('deletes a cache that has grown large', async () => {
    const cache = join(root, 'large')
    mkdirSync(cache)
    writeFileSync(join(cache, 'kept'), '')
    await open([cache])
    expect(existsSync(join(cache, 'kept'))).toBe(true)
    for (let number = 0; number < 3_000; number++) writeFileSync(join(cache, `${number}.cache`), '')
    await open([cache])
    expect(existsSync(join(cache, 'kept'))).toBe(false)
  })
})
