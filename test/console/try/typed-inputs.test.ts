import { describe, expect, it } from 'vitest'
import { MAX_TYPED_CHARACTERS } from '../../../console/state/typed-values.ts'
import { NO_OPTIONS } from '../../../console/try/run-options.ts'
import { stripFiles } from '../../../console/try/strip-files.ts'
import { type InputOwner, TypedInputs } from '../../../console/try/typed-inputs.ts'
import { aStorage } from '../state/a-storage.ts'

const anOwner = (overrides: Partial<InputOwner> = {}): InputOwner => ({
  organizationId: 'o1',
  tenantId: null,
  agentId: 'a1',
  ...overrides,
})
const OPTIONS = { ...NO_OPTIONS, tenantId: 'acme', useCache: 'true' as const }
const typed = (text: string) => ({ text, options: OPTIONS, hadFiles: false })
const asIs = (text: string) => ({ text, hadFiles: false })

describe('TypedInputs', () => {
  it('has what was typed after the page is loaded again', () => {
    const storage = aStorage()
    new TypedInputs(storage).write(anOwner(), null, typed('{"a":1}'), asIs('{"a":1}'))
    expect(new TypedInputs(storage).read(anOwner(), null)).toEqual(typed('{"a":1}'))
  })

  it.each([
    [{ organizationId: 'o2' }],
    [{ tenantId: 'acme' }],
    [{ tenantId: '' }],
    [{ personId: 'p1' }],
    [{ agentId: 'a2' }],
    [{ organizationId: 'o1/a1', agentId: '' }],
  ])('does not give it to another owner: %j', (other) => {
    const inputs = new TypedInputs(aStorage())
    inputs.write(anOwner(), null, typed('secret'), asIs('secret'))
    expect(inputs.read(anOwner(other), null)).toBeNull()
  })

  it('has an input for each run that it begins with, until it is removed', () => {
    const inputs = new TypedInputs(aStorage())
    inputs.write(anOwner(), 'run', typed('2'), asIs('2'))
    expect(inputs.read(anOwner(), null)).toBeNull()
    inputs.remove(anOwner(), 'run')
    expect(inputs.read(anOwner(), 'run')).toBeNull()
  })

  it('stores at most so many characters, and forgets the oldest', () => {
    const storage = aStorage()
    let now = 0
    const inputs = new TypedInputs(storage, () => now++)
    const text = 'x'.repeat(MAX_TYPED_CHARACTERS / 4)
    const owners = Array.from({ length: 6 }, (_, index) => anOwner({ agentId: `a${index}` }))
    for (const owner of owners) inputs.write(owner, null, typed(text), asIs(text))
    expect(storage.all().length).toBeLessThan(MAX_TYPED_CHARACTERS + 2_000)
    const after = new TypedInputs(storage)
    expect(owners.map((owner) => after.read(owner, null) !== null)).toEqual([
      ...[false, false, false],
      ...[true, true, true],
    ])
  })

  it('has what is too large only until the page is left', () => {
    const storage = aStorage()
    const inputs = new TypedInputs(storage)
    const text = 'x'.repeat(MAX_TYPED_CHARACTERS + 1)
    inputs.write(anOwner(), null, typed('small'), asIs('small'))
    inputs.write(anOwner(), null, typed(text), asIs(text))
    expect(inputs.read(anOwner(), null)?.text).toBe(text)
    expect(new TypedInputs(storage).read(anOwner(), null)).toBeNull()
  })

  it('works where the browser stores nothing', () => {
    for (const storage of [null, aStorage(0)]) {
      const inputs = new TypedInputs(storage)
      inputs.write(anOwner(), null, typed('a'), asIs('a'))
      expect(inputs.read(anOwner(), null)?.text).toBe('a')
    }
  })

  it('ignores what it did not write', () => {
    const storage = aStorage()
    new TypedInputs(storage).write(anOwner(), null, typed('a'), asIs('a'))
    const key = storage.key(0) ?? ''
    for (const text of ['', 'x', '[]', '1', 'null', '{"text":1}', '{"text":"a"}']) {
      storage.setItem(key, text)
      expect(new TypedInputs(storage).read(anOwner(), null)).toBeNull()
    }
    storage.setItem(key, '{"text":"a","options":{"useCache":1,"other":"x","tenantId":"t"}}')
    expect(new TypedInputs(storage).read(anOwner(), null)?.options).toEqual({ ...NO_OPTIONS, tenantId: 't' })
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
