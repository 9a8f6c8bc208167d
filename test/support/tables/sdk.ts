/** Configuration of an SDK client for an emulator, with the SDK's default timeouts, which allow for long polls. */
export const sdkConfig = (endpoint: string) => ({
  endpoint,
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})
