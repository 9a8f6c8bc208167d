/** For workerd, the runtime of Cloudflare Workers. The URL and the token are those of the request. */
import { useClient } from './scenario.mjs'

export default {
  async fetch(request) {
    const { searchParams } = new URL(request.url)
    return Response.json(await useClient(searchParams.get('baseUrl'), searchParams.get('token')))
  },
}
