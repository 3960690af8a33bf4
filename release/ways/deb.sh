# Debian's package, into a root folder of its own. On your own machine: sudo apt install ./miniredisd_*.deb
# needs: dpkg dpkg-deb
mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates
touch root/var/lib/dpkg/status
dpkg --root="$PWD/root" -i "$DIST"/miniredisd_*_"$ARCH".deb
dpkg --root="$PWD/root" --verify miniredisd

chroot root /usr/bin/miniredisd version
