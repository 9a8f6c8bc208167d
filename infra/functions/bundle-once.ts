import { spawnSync } from 'node:child_process'
import { extname, join } from 'node:path'
import type { App } from 'aws-cdk-lib'
import type { Construct } from 'constructs'

const BUNDLE = new URL(`bundle${extname(import.meta.url)}`, import.meta.url).href

const bundled = new Set<string>()

/**
 * Bundles the functions into the folder of the cloud assembly, once for all services of the app. A constructor cannot
 * wait for `bundleFunctions`, so it runs in a process of its own.
 * @returns the folder
 */
export function bundleFunctionsOnce(scope: Construct): string {
  const folder = join((scope.node.root as App).outdir, 'functions')
  if (bundled.has(folder)) return folder
  const script = `import { bundleFunctions } from ${JSON.stringify(BUNDLE)}; await bundleFunctions(process.argv[1])`
  const args = [...process.execArgv, '--input-type=module', '--eval', script, folder]
  const { status, error } = spawnSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (error || status !== 0)
    throw new Error('The functions could not be bundled; the output above says why.', { cause: error })
  bundled.add(folder)
  return folder
}
