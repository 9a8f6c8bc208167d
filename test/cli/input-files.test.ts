import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { PIXEL_BYTES } from '../support/data/files.ts'
import { cliOfFile, inFolder } from './cli.ts'

const cli = cliOfFile()

const DOCUMENT = `---
title: Measures files
code: true
input:
  name: { type: string, default: all }
  photos: { type: array, items: { type: file, mediaTypes: [image/png, image/jpeg] } }
  scan: { type: file, mediaTypes: [application/pdf], required: false, description: A scan. }
output: { sizes: { type: array, items: { type: string } } }
---
`
const CODE = `export default ({ name, photos, scan }) => ({
  sizes: [name, ...photos.concat(scan ?? []).map(({ mediaType, data }) => mediaType + ' ' + Buffer.from(data, 'base64').length)],
})
`

beforeAll(async () => {
  cli.write(inFolder('measure', { 'agent.md': DOCUMENT, 'agent.ts': CODE }))
  cli.write({ 'scan.pdf': '%PDF-1.7 scan', 'notes.txt': 'notes', 'input.json': '{"name": "two"}' })
  writeFileSync(join(cli.folder, 'pixel.png'), PIXEL_BYTES)
  await cli.json(['publish', 'measure', '--no-types'])
})

const run = (...options: string[]) => cli.run(['run', 'measure', '--json', ...options])

describe('run --file', () => {
  it('sets a field, and a list if it is repeated', async () => {
    const one = await run('--file', 'photos=pixel.png')
    expect(JSON.parse(one.stdout)).toEqual({ sizes: ['all', 'image/png 70'] })
    const files = ['--file', 'photos=pixel.png', '--file', 'photos=pixel.png', '--file', 'scan=scan.pdf']
    const all = await run('--input', 'input.json', ...files)
    expect(JSON.parse(all.stdout)).toEqual({
      sizes: ['two', 'image/png 70', 'image/png 70', 'application/pdf 13'],
    })
  })

  it.each([
    [
      'photos=notes.txt',
      'notes.txt is none of application/pdf, image/png, image/jpeg, image/gif, image/webp.',
    ],
    ['photos=scan.pdf', '/photos/0/mediaType must be image/png or image/jpeg.'],
    ['name=pixel.png', 'The input has the field name already.'],
  ])('explains what is wrong with %s', async (file, message) => {
    const { code, stdout, stderr } = await run('--input', 'input.json', '--file', file)
    expect(code).not.toBe(0)
    expect(stdout + stderr).toContain(message)
    expect(stdout + stderr).not.toContain('iVBOR')
  })
})

describe('show', () => {
  it('prints the types of files', async () => {
    const { stdout } = await cli.run(['show', 'measure'])
    expect(stdout).toMatch(/- scan +file \(application\/pdf\) +optional +A scan\./)
    expect(stdout).toMatch(/- photos +array of file \(image\/png, image\/jpeg\) +required/)
  })
})
