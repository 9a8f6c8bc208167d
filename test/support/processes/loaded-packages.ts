import { execFileSync } from 'node:child_process'

/** The packages that a new process loads to run a script. */
export function loadedPackages(script: string, env: Record<string, string> = {}): string[] {
  const whole = `
    import { registerHooks } from 'node:module'
    const loaded = new Set()
    registerHooks({
      load(url, context, next) {
        const name = /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]
        if (name) loaded.add(name)
        return next(url, context)
      },
    })
    ${script}
    console.log(JSON.stringify([...loaded]))`
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', whole], {
      env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
      encoding: 'utf8',
    }),
  )
}
