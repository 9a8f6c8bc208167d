import { describe, expect, it } from 'vitest'
import { MAX_NAME, MAX_SAVED, SavedInputs, toInputName } from '../../../console/try/saved-inputs.ts'
import { aStorage } from '../state/a-storage.ts'

const OWNER = { organizationId: 'o1', tenantId: null, agentId: 'a1' }

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
