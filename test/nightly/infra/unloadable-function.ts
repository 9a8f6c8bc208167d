/** Loaded before the service with `--import`: one of its functions then fails to load, as with a broken deployment. */
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, nextLoad) {
    if (url.endsWith('/functions/list-versions.ts'))
      throw new Error('Injected fault: the function cannot be loaded.')
    return nextLoad(url, context)
  },
})
