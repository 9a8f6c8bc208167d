import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CasesFile } from '../../cli/cases/cases-file.ts'

const caseOf = (name: string) => ({ name, input: { text: name }, expect: {} })

function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'aes-cases-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'cases.yaml')
  return { folder, save: (text: string) => writeFileSync(path, text), read: () => readFileSync(path, 'utf8') }
}

describe('CasesFile', () => {
  it('keeps what was saved since it was opened', async () => {
    const { folder, save, read } = aFolder()
    save('- { name: first, input: {} }\n')
    const file = await CasesFile.open(folder)
    const edited = '# Edited.\n- name: first\n  input: {}\n- name: saved\n  input: {}\n'
    save(edited)
    await file.append([caseOf('added'), caseOf('last')])
    expect(read().startsWith(edited)).toBe(true)
    const { cases } = await CasesFile.open(folder)
    expect(cases.map(({ name }) => name)).toEqual(['first', 'saved', 'added', 'last'])
  })

  it('adds all cases or none, and nothing to a file that became invalid', async () => {
    const { folder, save, read } = aFolder()
    save('- { name: first, input: {} }\n')
    const file = await CasesFile.open(folder)
    await expect(file.append([caseOf('added'), caseOf('first')])).rejects.toThrow('Adding a case failed')
    expect(read()).toBe('- { name: first, input: {} }\n')
    save('- name: [')
    await expect(file.append([caseOf('added')])).rejects.toThrow('Adding a case failed')
    expect(read()).toBe('- name: [')
  })
})
