'use strict';

// The native addon comes in a package of its own for each platform, of which npm installs the one that fits.

function packages() {
  const { platform, arch } = process;
  switch (platform) {
    case 'linux':
      return [`verifi-linux-${arch}-gnu`, `verifi-linux-${arch}-musl`];
    case 'win32':
      return [`verifi-win32-${arch}-msvc`];
    default:
      return [`verifi-${platform}-${arch}`];
  }
}

function load() {
  const causes = [];
  for (const name of packages()) {
    try {
      return require(name);
    } catch (error) {
      causes.push(error);
    }
  }
  const reasons = causes.map((cause) => cause.message.split('\n', 1)[0]).join('; ');
  throw new Error(`verifi has no native addon for ${process.platform} ${process.arch}: ${reasons}`, { cause: causes[0] });
}

module.exports = load();
