import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pdfOf } from '../support/data/files.ts'
import { PIXEL_BYTES } from '../support/data/pixel.ts'
import { type Demo, startDemo } from './demo/start-demo.ts'
import { useBrowser } from './support/browser.ts'

const DOCUMENT = `---
title: Measures files
slug: measure-files
code: true
input:
  note: { type: string, default: none }
  scan: { type: file, mediaTypes: [application/pdf] }
  photos: { type: array, required: false, items: { type: file, mediaTypes: [image/png] } }
output: { bytes: { type: integer } }
---
`
const CODE = `export default ({ scan, photos = [] }) =>
  ({ bytes: [scan, ...photos].reduce((sum, { data }) => sum + Buffer.from(data, 'base64').length, 0) })`

const { open } = useBrowser()
let demo: Demo
beforeAll(async () => {
  demo = await startDemo()
  const { status } = await demo.call('POST', '/v1/agents', { body: { document: DOCUMENT, code: CODE } })
  expect(status).toBe(201)
})
afterAll(() => demo?.stop())

describe('trying an agent with files', () => {
  it('sends those that are chosen, and shows their type and size in place of base64', async () => {
    const page = await open(`${demo.url}/console#token=${demo.token}`)
    await page.goto(`${demo.url}/console#/agents/measure-files/try`)
    const buffer = Buffer.from(pdfOf(4_000_000), 'base64')
    await page.getByLabel('scan').setInputFiles({ name: 'may.pdf', mimeType: 'application/pdf', buffer })
    await page.getByText('application/pdf, 4.0 MB').waitFor()
    await page.getByRole('button', { name: 'Add item to photos' }).click()
    const photo = page.getByLabel('photos 1', { exact: true })
    await photo.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no image') })
    await page.getByText('a.png is not one of image/png.').waitFor()
    await photo.setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PIXEL_BYTES })
    await page.getByText('image/png, 70 B').waitFor()
    await page.getByLabel('note').fill('The invoice of May')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page
      .getByRole('region', { name: /^Result/ })
      .getByText('4000070')
      .first()
      .waitFor()

    const [run] = (await demo.call('GET', '/v1/agents/measure-files/executions?fields=summary')).json
    await page.goto(`${demo.url}/console#/runs/${run.id}`)
    await page.getByRole('heading', { name: 'Input', exact: true }).waitFor()
    await page.getByRole('button', { name: /^Load the input, / }).click()
    await page.getByText('application/pdf, 4.0 MB').first().waitFor()
    expect((await page.content()).includes('JVBERi0')).toBe(false)
  })
})
