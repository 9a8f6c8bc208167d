import { describe, expect, it } from 'vitest'
import { MAX_TYPED_CHARACTERS } from '../../../console/state/typed-values.ts'
import { NO_OPTIONS } from '../../../console/try/run-options.ts'
import { MAX_NAME, MAX_SAVED, SavedInputs, toInputName } from '../../../console/try/saved-inputs.ts'
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

describe('SavedInputs', () => {
  it('saves, replaces, renames and deletes', () => {
    const saved = new SavedInputs(OWNER, aStorage())
    saved.save({ name: 'b', text: '1' })
    saved.save({ name: 'a', text: '2' })
    expect(saved.save({ name: 'b', text: '3' })).toBeNull()
    expect(saved.list()).toEqual([
      { name: 'a', text: '2' },
      { name: 'b', text: '3' },
    ])
    expect(saved.rename('b', 'a')).toMatch(/has this name/)
    expect(saved.rename('b', 'c')).toBeNull()
    expect(saved.delete('a')).toBeNull()
    expect(saved.list()).toEqual([{ name: 'c', text: '3' }])
  })

  it('keeps those of others apart', () => {
    const storage = aStorage()
    new SavedInputs(OWNER, storage).save({ name: 'a', text: '1' })
    for (const other of [{ organizationId: 'o2' }, { tenantId: 't' }, { agentId: 'a2' }])
      expect(new SavedInputs({ ...OWNER, ...other }, storage).list()).toEqual([])
  })

  it('sees what another tab has saved', () => {
    const storage = aStorage()
    const [first, second] = [new SavedInputs(OWNER, storage), new SavedInputs(OWNER, storage)]
    first.save({ name: 'a', text: '1' })
    second.save({ name: 'b', text: '2' })
    expect(first.list().map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('has bounds, and says which', () => {
    const saved = new SavedInputs(OWNER, aStorage())
    expect(saved.save({ name: 'a', text: 'x'.repeat(100_001) })).toMatch(/too large/)
    for (let number = 0; number < 4; number++)
      saved.save({ name: `large ${number}`, text: 'x'.repeat(99_000) })
    expect(saved.save({ name: 'large', text: 'x'.repeat(100_000) })).toBeNull()
    expect(saved.save({ name: 'one more', text: 'x'.repeat(10_000) })).toMatch(/500,000/)
    const many = new SavedInputs(OWNER, aStorage())
    for (let number = 0; number < MAX_SAVED; number++) many.save({ name: `${number}`, text: '1' })
    expect(many.save({ name: 'one more', text: '1' })).toMatch(/50 saved inputs/)
    expect(many.save({ name: '1', text: '2' })).toBeNull()
  })

  it('says so where the browser stores nothing', () => {
    for (const storage of [null, aStorage(5)])
      expect(new SavedInputs(OWNER, storage).save({ name: 'a', text: '1' })).toMatch(/does not allow/)
  })

  it('ignores what it did not write', () => {
    const storage = aStorage()
    const saved = new SavedInputs(OWNER, storage)
    for (const text of ['', 'x', '{}', 'null', '[1,null,{"name":1},{"name":"a"}]']) {
      storage.setItem(saved.key, text)
      expect(saved.list()).toEqual([])
    }
  })
})

it.each([
  ['  a  b ', 'a b'],
  ['a\n\u2028\u0000b', 'a b'],
  ['\n\t', ''],
  ['\ud800', '\ufffd'],
  ['x'.repeat(500), `${'x'.repeat(MAX_NAME)}…`],
])('toInputName(%j) is %j', (typed, name) => expect(toInputName(typed)).toBe(name))
