import { expect, it } from 'vitest'
import { toFile } from '../../../clients/typescript/src/index.ts'
import { PDF, pdfOf } from '../../support/data/files.ts'

it.each([0, 40, 32_769, 4_500_000])('toFile reads %i bytes', async (size) => {
  const data = size === 0 ? '' : pdfOf(size).slice(0, Math.ceil(size / 3) * 4)
  const bytes = Buffer.from(data, 'base64')
  const file = await toFile(new Blob([bytes], { type: 'application/pdf' }))
  expect(file.mediaType).toBe(PDF.mediaType)
  expect(file.data === data).toBe(true)
})
