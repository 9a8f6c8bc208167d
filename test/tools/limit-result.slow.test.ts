import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { ToolResult } from '../../lib/core/model.ts'
import { limitResult, MAX_STORED_BYTES } from '../../lib/tools/limit-result.ts'
import { openSecrets } from '../../lib/tools/secrets.ts'

const secrets = openSecrets({})

/** A result with images that cannot be compressed, or that consist of one repeated byte. */
function withImages(sizes: number[], { isCompressible = false } = {}): ToolResult {
  const images = sizes.map((bytes) => ({
    mediaType: 'image/png',
    data: (isCompressible ? Buffer.alloc(bytes, 1) : randomBytes(bytes)).toString('base64'),
  }))
  return { ok: true, value: 'Images.', images, executionId: 'x' }
}

describe('limitResult', () => {
  it.each([
    ['one image', [3_750_000], {}],
    ['images just below the limit', [3_700_000, 2_200_000], {}],
    ['images that compress well', Array(5).fill(3_750_000), { isCompressible: true }],
  ])('keeps %s', async (_, sizes, options) => {
    const result = withImages(sizes, options)
    expect(gzipSync(JSON.stringify(result)).length).toBeLessThanOrEqual(MAX_STORED_BYTES)
    expect(await limitResult(result, secrets)).toEqual(result)
  })

  it.each([
    ['two images', [3_750_000, 2_600_000], '6.4 MB with its 2 images'],
    ['five images', Array(5).fill(3_750_000), 'MB with its 5 images'],
  ])('fails a call whose result is too large for its partition: %s', async (_, sizes, text) => {
    const limited = await limitResult(withImages(sizes), secrets)
    expect(limited).toEqual({ ok: false, executionId: 'x', error: expect.stringContaining(text) })
    expect(limited).toHaveProperty('error', expect.stringContaining('the limit is 6.0 MB'))
  })
})
