import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { BUNDLE_OPTIONS } from '../../../infra/functions/bundle.ts'

it('bundles have the defaults of settings, and none of their texts', async () => {
  const environment = fileURLToPath(new URL('../../../lib/environment.ts', import.meta.url))
  const { metafile, outputFiles = [] } = await build({
    ...BUNDLE_OPTIONS,
    entryPoints: [environment],
    outdir: 'unused',
    write: false,
  })
  expect(Object.keys(metafile.inputs)).toHaveLength(2)
  expect(outputFiles[0]?.text).toContain('maxOpenExecutions')
  expect(outputFiles[0]?.text).not.toContain('per organization')
})
