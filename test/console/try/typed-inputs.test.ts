import { describe, expect, it } from 'vitest'
import { MAX_TYPED_CHARACTERS } from '../../../console/state/typed-values.ts'
import { NO_OPTIONS } from '../../../console/try/run-options.ts'
import { stripFiles } from '../../../console/try/strip-files.ts'
import { TypedInputs } from '../../../console/try/typed-inputs.ts'
import { aStorage } from '../state/a-storage.ts'

const OWNER = { organizationId: 'o1', tenantId: null, agentId: 'a1' }
const OPTIONS = { ...NO_OPTIONS, tenantId: 'acme', useCache: 'true' as const }

/** @param storage of a tab */
function openInputs(storage: ReturnType<typeof aStorage> | null, now?: () => number) {
  const inputs = new TypedInputs(storage, now)
  return {
    read: (owner = {}, from: string | null = null) => inputs.read({ ...OWNER, ...owner }, from),
    remove: (from: string) => inputs.remove(OWNER, from),
    write: (text: string, owner = {}, from: string | null = null) =>
      inputs.write(
        { ...OWNER, ...owner },
        from,
        { text, options: OPTIONS, hadFiles: false },
        { text, hadFiles: false },
      ),
  }
}

describe('TypedInputs', () => {
  it('has an input of each owner and of each run that it begins with, until it is removed', () => {
    const inputs = openInputs(aStorage())
    inputs.write('secret')
    for (const other of [{ personId: 'p1' }, { agentId: 'a2' }, { organizationId: 'o1/a1', agentId: '' }])
      expect(inputs.read(other)).toBeNull()
    expect(inputs.read({}, 'run')).toBeNull()
    inputs.write('2', {}, 'run')
    inputs.remove('run')
    expect(inputs.read({}, 'run')).toBeNull()
  })

  it('stores at most so many characters, and forgets the oldest', () => {
    const storage = aStorage()
    let now = 0
    const inputs = openInputs(storage, () => now++)
    const owners = Array.from({ length: 6 }, (_, index) => ({ agentId: `a${index}` }))
    for (const owner of owners) inputs.write('x'.repeat(MAX_TYPED_CHARACTERS / 4), owner)
    expect(storage.all().length).toBeLessThan(MAX_TYPED_CHARACTERS + 2_000)
    const after = openInputs(storage)
    const isKept = owners.map((owner) => after.read(owner) !== null)
    expect(isKept).toEqual([false, false, false, true, true, true])
  })

  it('has what is too large only until the page is left', () => {
    const storage = aStorage()
    const inputs = openInputs(storage)
    const text = 'x'.repeat(MAX_TYPED_CHARACTERS + 1)
    inputs.write('small')
    inputs.write(text)
    expect(inputs.read()?.text).toBe(text)
    expect(openInputs(storage).read()).toBeNull()
  })

  it('works where the browser stores nothing', () => {
    for (const storage of [null, aStorage(0)]) {
      const inputs = openInputs(storage)
      inputs.write('a')
      expect(inputs.read()?.text).toBe('a')
    }
  })

  it('ignores what it did not write', () => {
    const storage = aStorage()
    openInputs(storage).write('a')
    const key = storage.key(0) ?? ''
    for (const text of ['', 'x', '[]', '1', 'null', '{"text":1}', '{"text":"a"}']) {
      storage.setItem(key, text)
      expect(openInputs(storage).read()).toBeNull()
    }
    storage.setItem(key, '{"text":"a","options":{"useCache":1,"other":"x","tenantId":"t"}}')
    expect(openInputs(storage).read()?.options).toEqual({ ...NO_OPTIONS, tenantId: 't' })
  })
})

describe('stripFiles', () => {
  const FILES = { photo: { type: 'file' }, note: { type: 'string' } }

  it('leaves out the contents of files', () => {
    const file = { mediaType: 'image/png', data: 'QUJD' }
    const text = JSON.stringify({ photo: file, list: [1, file], note: 'a', deep: { file } })
    const stripped = stripFiles(text, FILES)
    expect(stripped?.hadFiles).toBe(true)
    expect(JSON.parse(stripped?.text ?? '')).toEqual({ list: [1, null], note: 'a', deep: {} })
  })

  it('changes nothing else', () => {
    const text = '{"note": 1.50 ,"a":1}'
    expect(stripFiles(text, FILES)).toEqual({ text, hadFiles: false })
    const others = '{"x":{"mediaType":"a","data":"b"}'
    expect(stripFiles(others, { note: { type: 'string' } })).toEqual({ text: others, hadFiles: false })
  })

  it('has nothing to store of what is not JSON, where there may be files', () =>
    expect(stripFiles('{"photo":{"mediaType":"image/png","data":"QUJD"', FILES)).toBeNull())
})
